import * as v from 'valibot'
import type { Registry } from '../../../generator/index.ts'
import type { OpenHandler } from '../../access/route.ts'
import { answer } from '../../http/answer.ts'
import { dependencyShape, dependencyViews } from '../schema/dependency.ts'
import { foundVersion } from './found.ts'

export const dependenciesAnswer = v.object({ dependencies: v.array(dependencyShape) })

/** `GET /api/v1/crates/{name}/{version}/dependencies`. */
export function dependencies(registry: Registry): OpenHandler {
  return async c => {
    const { release } = await foundVersion(registry, c)
    return answer(c, { dependencies: dependencyViews(release) } satisfies v.InferOutput<
      typeof dependenciesAnswer
    >)
  }
}
