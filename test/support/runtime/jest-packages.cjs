const { createRequire } = require('node:module');

// The packages of the installed jest, whose release is pinned in package.json.
const fromCore = createRequire(createRequire(require.resolve('jest')).resolve('@jest/core'));
const fromRuntime = createRequire(fromCore.resolve('jest-runtime'));

module.exports = {
  Runtime: fromCore('jest-runtime').default,
  ModuleMocker: fromRuntime('jest-mock').ModuleMocker,
};
