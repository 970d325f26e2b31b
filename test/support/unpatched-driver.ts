/**
 * Replaces src/platform/database/mongodb-driver-patch.ts in scripts/newest-driver.mjs, which runs the tests without the
 * patch.
 */
export function patchMongoDriver(): void {}
