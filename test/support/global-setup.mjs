// One Redis for the whole run, named in TEST_REDIS_URL so that every suite finds it; the built package and the processes
// that suites start.
import { buildAll, compiled } from './compile.mjs';

export default async function globalSetup() {
  buildAll();
  const { startRedis } = await import(new URL('redis-server.js', compiled).href);
  const { canAsk } = await import(new URL('install-redis.js', compiled).href);
  const server = await startRedis((line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`Redis for the tests: ${server.origin}\n`);
  process.env.TEST_REDIS_URL = server.url;
  if (process.env.TEST_AS_USER) {
    const { asDocumentedUser, PREFIXES_OF_TESTS } = await import(new URL('test/support/acl.js', compiled).href);
    process.env.TEST_QUEUE_URL = await asDocumentedUser(server.url, PREFIXES_OF_TESTS);
    process.stdout.write('Applications connect as the user that docs/security.md describes.\n');
  }
  // Suites that start servers of their own run without a terminal: they cannot ask, and must not install behind a person's back.
  if (canAsk()) process.env.SQ_INSTALL_REDIS ||= 'never';
  globalThis.__stopRedis = () => server.stop();
}
