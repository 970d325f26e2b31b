import config from './jest.config.js';

/** The end-to-end tests for `npm run test:engines`: see scripts/engines.mjs. */
export default {
  ...config,
  roots: ['<rootDir>/test/e2e', '<rootDir>/test/proofs'],
  testRegex: ['/test/e2e/.*\\.test\\.ts$', '/test/proofs/database-users\\.test\\.ts$'],
  // It is about a server without TLS, behind a proxy.
  testPathIgnorePatterns: ['/node_modules/', '/test/e2e/temporal-tls\\.proof\\.test\\.ts$'],
  maxWorkers: 2,
};
