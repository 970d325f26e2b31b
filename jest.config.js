import vm from 'node:vm';

if (vm.SourceTextModule === undefined) {
  throw new Error(
    'Jest needs a flag of Node for ES modules: use npm test, node scripts/jest.mjs, or NODE_OPTIONS=--experimental-vm-modules.',
  );
}

export default {
  // One load of each module per worker, as in production: see there.
  runtime: '<rootDir>/test/support/runtime/runtime.cjs',
  testEnvironment: '<rootDir>/test/support/runtime/environment.cjs',
  roots: ['<rootDir>/test'],
  // The long proofs: see jest.proofs.config.js.
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/chaos/',
    '<rootDir>/test/proofs/',
    '\\.proof\\.test\\.ts$',
  ],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testSequencer: '<rootDir>/test/support/sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/counts.mjs'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // Longer than `eventually` waits, so that a failure names its wait.
  testTimeout: 300_000,
  // More than two cores: many tests wait for timers of the service and of the bank.
  maxWorkers: 3,
};
