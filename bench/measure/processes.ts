import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Forks a file of this folder so many times, each with the task as JSON. They end with this process. Resolves once each has said anything. */
export async function startProcesses(file: string, count: number, task: object): Promise<ChildProcess[]> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const children = Array.from({ length: count }, () => fork(path, [JSON.stringify(task)]));
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map(hasSpoken));
  return children;
}

function hasSpoken(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`A worker process ended with code ${code}.`)));
  });
}
