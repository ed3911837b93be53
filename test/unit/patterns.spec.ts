import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const FILES = 'test/e2e/docs/patterns';
const page = readFileSync('docs/patterns.md', 'utf8');
const [contents, ...sections] = page.split(/^## /m);
const titles = sections.map((section) => section.split('\n')[0]!);

it('docs/patterns.md prints exactly the files that are run by test/e2e, each in the section of its name', () => {
  const printed = sections.flatMap((section, i) =>
    [...section.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code]) => [`${anchor(titles[i]!)}.ts`, code!]),
  );
  const run = readdirSync(FILES).map((file) => [file, readFileSync(`${FILES}/${file}`, 'utf8')]);
  expect(contents).not.toContain('```');
  expect(printed.sort()).toEqual(run.sort());
});

it('every file that it prints is run by a spec', () => {
  const specs = readdirSync('test/e2e/docs').filter((file) => /^patterns-.*\.spec\.ts$/.test(file));
  const imported = specs.flatMap((spec) =>
    [...readFileSync(`test/e2e/docs/${spec}`, 'utf8').matchAll(/from '\.\/patterns\/(.*)\.js'/g)].map(
      ([, name]) => `${name}.ts`,
    ),
  );
  expect(imported.sort()).toEqual(readdirSync(FILES).sort());
});

it('the table at its top names every section, in their order', () => {
  const rows = [...contents!.matchAll(/^\| \[(.*?)\]\(#(.*?)\) \|/gm)].map(([, title, target]) => [title, target]);
  expect(rows).toEqual(titles.map((title) => [title, anchor(title)]));
});

it('every section that a page links to is there', () => {
  const docs = readdirSync('docs').filter((file) => file.endsWith('.md'));
  const pages = ['README.md', ...docs.map((file) => `docs/${file}`)];
  const missing = pages.flatMap((from) => linksToSections(from).filter(({ to, name }) => !anchors(to).includes(name)));
  expect(missing).toEqual([]);
});

/** As GitHub makes them of titles. */
function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchors(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title]) => anchor(title!));
}

function linksToSections(from: string): { from: string; to: string; name: string }[] {
  const links = [...readFileSync(from, 'utf8').matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)];
  return links.map(([, file, name]) => {
    const to = file ? `${from.startsWith('docs/') ? 'docs/' : ''}${file}` : from;
    return { from, to, name: name! };
  });
}
