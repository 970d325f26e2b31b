export { transfer } from './transfer.js';
