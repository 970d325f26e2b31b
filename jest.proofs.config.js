import config from './jest.config.js';

/** The long proofs, which `npm test` excludes: see CONTRIBUTING.md. */
export default {
  ...config,
  roots: ['<rootDir>/test/proofs'],
  testPathIgnorePatterns: ['/node_modules/'],
};
