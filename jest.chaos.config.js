import config from './jest.config.js';

/** The chaos tests, which `npm test` excludes: see CONTRIBUTING.md. */
export default {
  ...config,
  roots: ['<rootDir>/test/chaos'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 30 * 60_000,
  // Not more than cores: many of these load the service.
  maxWorkers: 2,
  verbose: false,
};
