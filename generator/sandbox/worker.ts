// The program of the sandbox's threads.
import { getPriority, setPriority } from 'node:os'
import { serveTasks } from './serve-tasks.ts'
import { tasks } from './tasks.ts'

/** So that publishes go before what files of strangers make this thread compute. */
const NICENESS = 10

// Linux has a priority for each thread; elsewhere this would change the whole process's priority.
if (process.platform === 'linux') giveWay()
serveTasks(tasks)

/** Lowers this thread's priority unless that of the process is as low or the system forbids it. */
function giveWay(): void {
  try {
    if (getPriority() < NICENESS) setPriority(NICENESS)
  } catch {
    // Service managers and containers may refuse the call; all tasks work without it.
  }
}
