import config from './jest.config.js';

/**
 * Configuration for scripts/newest-driver.mjs: tests run with the MongoDB driver in the folder BURSAR_TEST_DRIVER, and
 * without our patch if BURSAR_TEST_UNPATCHED is set. Only jest's own runtime maps module names.
 */
const folder = process.env.BURSAR_TEST_DRIVER;
const { runtime: _, ...rest } = config;
export default {
  ...rest,
  testEnvironment: 'node',
  moduleNameMapper: {
    ...(folder && { '^mongodb$': `${folder}/lib/index.js`, '^mongodb/(.*)$': `${folder}/$1` }),
    ...(process.env.BURSAR_TEST_UNPATCHED && {
      '/mongodb-driver-patch\\.js$': '<rootDir>/test/support/unpatched-driver.ts',
    }),
    ...config.moduleNameMapper,
  },
};
