import config from './jest.config.js';

/** The long proofs, which `npm test` excludes: `test/proofs`, and `*.proof.test.ts` beside the tests of their subject. */
export default {
  ...config,
  testRegex: ['/test/proofs/.*\\.test\\.ts$', '\\.proof\\.test\\.ts$'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/test/chaos/',
    // Set by the CI run on a machine without a browser, which it says. Elsewhere the proof fails without one.
    ...(process.env['BURSAR_BROWSER'] === 'none' ? ['<rootDir>/test/proofs/console'] : []),
  ],
  // Each wait has a bound of its own; this one is for a machine that is busy with other proofs.
  testTimeout: 15 * 60_000,
};
