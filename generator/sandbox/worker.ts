// The program of the sandbox's threads.
import { setPriority } from 'node:os'
import { serveTasks } from './serve-tasks.ts'
import { tasks } from './tasks.ts'

// Linux gives each thread a priority of its own; elsewhere this would be that of the whole process.
if (process.platform === 'linux') setPriority(10)

serveTasks(tasks)
