import { holdToContract } from './all-cases.js';
import { ProcessWorld } from './process-world.js';

holdToContract('this process', async (clock) => new ProcessWorld(clock));
