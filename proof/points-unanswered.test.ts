import { dieAtEveryPoint } from './points.js';

dieAtEveryPoint({
  name: 'paid, and never answered',
  suffix: '004',
  ends: 'completed',
  paid: 1,
  calledBack: null,
});
