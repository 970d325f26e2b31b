import config from './jest.config.js';

/** The long proofs, which `npm test` leaves out: see CONTRIBUTING.md. */
export default {
  ...config,
  roots: ['<rootDir>/test/chaos'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 30 * 60_000,
  verbose: false,
};
