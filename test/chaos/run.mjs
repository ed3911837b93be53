// Builds what is stale, as Jest's global setup does, and runs the suite: npm run test:chaos -- --help
import { buildAll, compiled } from '../support/compile.mjs';

buildAll();
await import(new URL('test/chaos/main.js', compiled).href);
