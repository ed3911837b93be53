import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** Storages that the test file of this worker has used. */
const used = new Set();
for (const method of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[method];
  AsyncLocalStorage.prototype[method] = function (...args) {
    used.add(this);
    return original.apply(this, args);
  };
}

/**
 * Ends the storages of a test file with it. Each file loads the library anew, and a storage that was used once stays enabled: before
 * Node 24 every promise of the worker asks each of them for its value. Over fifty files that was a quarter of the CPU time.
 */
export default class Environment extends TestEnvironment {
  async setup() {
    await super.setup();
    // Of the process that a test file sees, which is a copy, nobody hears a warning of Node.
    this.global.processOfNode = process;
  }

  async teardown() {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
}
