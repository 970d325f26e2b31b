import { outcomeTables } from '../e2e/outcome-tables/table.js';

// The tables for a bank that does not de-duplicate are in `npm test`.
outcomeTables({ deduplicate: true });
