export { transfer } from './transfer.js';
export { transferBatch } from './transfer-batch.js';
