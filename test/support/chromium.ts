import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import puppeteer, { type Browser } from 'puppeteer-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Where a Chromium is on the PATH; `undefined` if there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
}

/** Without a window. Needs one on the PATH. */
export function startChromium(): Promise<Browser> {
  return puppeteer.launch({
    executablePath: findChromium(),
    // Containers, in which tests run as root, have neither a sandbox nor much shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--lang=en-US'],
    defaultViewport: { width: 1_200, height: 800 },
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
