import type { Queries } from '../database/statement.ts'
import type { Locks, MutexName, ProcessMutex } from '../places/locks/process-mutex.ts'
import { requireUnpaused } from './pause.ts'

/** Returns the same locks, whose mutexes refuse their turns as `requireUnpaused` does changes. */
export function pausable(locks: Locks, db: Queries): Locks {
  const mutexOf = (name: MutexName): ProcessMutex => {
    const mutex = locks.mutex(name)
    return {
      run: work =>
        mutex.run(async () => {
          await requireUnpaused(db)
          return work()
        }),
      ifLost: again => mutex.ifLost(again),
      isHeld: () => mutex.isHeld(),
      close: () => mutex.close(),
    }
  }
  return { mutex: mutexOf, lease: name => locks.lease(name), close: () => locks.close() }
}
