// Builds what the chaos suite runs, and has Redis compile each script. Fails where either does. Run inside the copy.
import { Redis } from 'ioredis';
import { buildAll, compiled } from '../../support/compile.mjs';

buildAll();
const { startOwnServer } = await import(new URL('redis-server.js', compiled).href);
const { SCRIPTS } = await import(new URL('../../../dist/chunks/scripts.js', import.meta.url).href);
const server = await startOwnServer();
const redis = new Redis(server.url);
try {
  for (const [name, { source }] of Object.entries(SCRIPTS)) {
    await redis.script('LOAD', source).catch((error) => {
      process.exitCode = 1;
      process.stderr.write(`${name}: ${error.message}\n`);
    });
  }
} finally {
  redis.disconnect();
  await server.stop();
}
