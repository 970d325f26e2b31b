const { ModuleMocker } = require('./jest-packages.cjs');

const HANDLERS = Symbol.for('EVENT_HANDLERS');

/**
 * The context of a jest worker for its test files, one after the other, without one of their own: see runtime.cjs. A file
 * leaves variables of the environment and the console as it found them.
 */
class SharedContext {
  constructor() {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = null;
    this.before = {
      env: { ...process.env },
      exit: Reflect.get(process, 'exit'),
      console: globalThis.console,
    };
  }

  async setup() {}

  async teardown() {
    const { env, exit, console } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    globalThis.console = console;
    // The next file's test framework would send its events to this file's too.
    Reflect.deleteProperty(globalThis, HANDLERS);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest wants one; runtime.cjs does not use it. */
  getVmContext() {
    return globalThis;
  }
}

module.exports = SharedContext;
