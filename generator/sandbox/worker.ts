// The program of the sandbox's threads.
import { serveTasks } from './serve-tasks.ts'
import { tasks } from './tasks.ts'

serveTasks(tasks)
