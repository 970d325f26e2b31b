/** Stands in for src/database/mend-driver.ts in scripts/newest-driver.mjs, which asks how the driver does without it. */
export function mendDriver(): void {}
