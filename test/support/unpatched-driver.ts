/** Takes the place of src/platform/database/mongodb-driver-patch.ts in scripts/newest-driver.mjs, which tries the driver without it. */
export function patchMongoDriver(): void {}
