/** The release of this client, as its package.json names it. */
export const VERSION = '0.1.0';
