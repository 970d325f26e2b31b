import config from './jest.config.js';

/** The long proofs, which `npm test` leaves out: see CONTRIBUTING.md. */
export default { ...config, roots: ['<rootDir>/proof'], testTimeout: 30 * 60_000, verbose: false };
