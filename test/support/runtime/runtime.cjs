// The runtime of jest for our tests. Jest's own loads every module again for each test file, into a context of its own: a
// file that needs the service loads 600 modules of ours and a thousand of packages, which takes seconds. Here a worker of jest
// loads packages and the product once, as Node.js loads them in production, and test files share them: modules of the
// product are factories, and keep no state. Modules of test/ are loaded for each file. Everything else is jest's: its
// runner, its time limits, its matchers and its reports.
const { register } = require('node:module');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { compileFunction } = require('node:vm');
const { Runtime } = require('./jest-packages.cjs');
const { compiledOf } = require('./compiled.cjs');

register('./typescript-hooks.mjs', pathToFileURL(__filename));

/** The source maps of the files that typescript-hooks.mjs has compiled, by the name that a stack has. */
class SourceMaps extends Map {
  get(name) {
    const file = name.startsWith('file:') ? fileURLToPath(name) : name;
    return file.endsWith('.ts') ? compiledOf(file).mapFile : undefined;
  }
}

/** The number of test files that this worker has loaded. */
let files = 0;

/** Loads test files by Node.js instead of jest. Module mocks, coverage and the watch mode of jest do not work with it. */
class SharedModules extends Runtime {
  constructor(...settings) {
    super(...settings);
    // Jest's own modules run in the context of the tests, which is the only one.
    const { executor } = this;
    executor.compile = (source, filename) =>
      compileFunction(source, executor.injectedModuleParameters, { filename });
  }

  /** The query gives each test file modules of test/ of its own, whose hooks and variables belong to one file. */
  async unstable_importModule(file) {
    files += 1;
    return import(`${pathToFileURL(file).href}?file=${files}`);
  }

  getSourceMaps() {
    return new SourceMaps();
  }
}

module.exports = SharedModules;
