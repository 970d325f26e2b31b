import { outcomeTables } from './outcome-tables/table.js';

// Only our own checks keep an instruction from being paid twice. The other bank is in test/proofs.
outcomeTables({ deduplicate: false });
