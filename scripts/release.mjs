// node scripts/release.mjs v0.1.0 [file]: what .github/workflows/release.yml needs to know of a tag. Fails where the tag does not name the
// version that is here; else it writes the changelog's part of that version into the file, or prints it.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REMEDY = 'See "Release" in CONTRIBUTING.md; then move the tag.';

/** The changelog's part of the version that the tag names, without its title. Throws one error that names everything that does not fit. */
export function changesOf(tag, root, repository) {
  const read = (path) => readFileSync(new URL(path, root), 'utf8');
  const manifest = JSON.parse(read('package.json'));
  const version = tag.replace(/^v/, '');
  const problems = [
    tag === `v${version}` ? undefined : `the tag is '${tag}', expected one that begins with v`,
    differs('package.json', manifest.version, version),
    differs('package-lock.json', JSON.parse(read('package-lock.json')).version, version),
    differs('lib/core/version.ts', /VERSION = '(.*)'/.exec(read('lib/core/version.ts'))?.[1], version),
    repository && otherRepository(manifest.repository, repository),
  ];
  const [first] = read('CHANGELOG.md').split(/^## /m).slice(1);
  const [title, ...lines] = first.split('\n');
  const changes = lines.join('\n').trim();
  if (!title.startsWith(`${version}, `) || !/, \d{4}-\d\d-\d\d$/.test(title))
    problems.push(`CHANGELOG.md begins with '## ${title}', expected '## ${version}, ' and a date such as 2027-01-31`);
  else if (changes === '') problems.push(`CHANGELOG.md says nothing of ${version}`);
  const found = problems.filter(Boolean);
  if (found.length > 0)
    throw new Error([`${tag} cannot be released:`, ...found.map((one) => `- ${one}`), REMEDY].join('\n'));
  return changes;
}

function differs(path, got, expected) {
  return got === expected ? undefined : `${path} has the version '${got}', expected '${expected}'`;
}

/** npm takes a provenance only where package.json names the repository whose workflow has signed it. */
function otherRepository(declared, repository) {
  const url = typeof declared === 'string' ? declared : declared?.url;
  const named = /github(?:\.com[/:]|:)([^/]+\/[^/]+?)(?:\.git)?$/.exec(url ?? '')?.[1];
  if (named === repository) return undefined;
  return `package.json has the repository ${JSON.stringify(url)}, expected "git+https://github.com/${repository}.git"`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tag = '', file] = process.argv.slice(2);
  try {
    const changes = changesOf(tag, new URL('../', import.meta.url), process.env.GITHUB_REPOSITORY);
    if (file) writeFileSync(file, `${changes}\n`);
    else console.log(changes);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
