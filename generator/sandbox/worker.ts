// The program of the sandbox's threads.
import { setPriority } from 'node:os'
import { serveTasks } from './serve-tasks.ts'
import { tasks } from './tasks.ts'

// Linux has a priority for each thread; elsewhere this would change the whole process's priority.
if (process.platform === 'linux') setPriority(10)

serveTasks(tasks)
