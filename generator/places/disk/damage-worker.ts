// The program of the thread that looks at a whole database: that takes seconds for a large one.
import { parentPort, workerData } from 'node:worker_threads'
import { findFault } from './sqlite-file.ts'

parentPort?.postMessage(findFault(String(workerData)))
