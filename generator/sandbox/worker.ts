// The program of the sandbox's threads.
import { getPriority, setPriority } from 'node:os'
import { serveTasks } from './serve-tasks.ts'
import { tasks } from './tasks.ts'

/** Publishes go before computations for strangers' files in this thread. */
const NICENESS = 10

// Linux has a priority for each thread; elsewhere this would change the whole process's priority.
if (process.platform === 'linux') giveWay()
serveTasks(tasks)

/** Lowers this thread's priority unless the process's is as low or the system forbids it. */
function giveWay(): void {
  try {
    if (getPriority() < NICENESS) setPriority(NICENESS)
  } catch {
    // Service managers and containers may refuse the call; all tasks work without it.
  }
}
