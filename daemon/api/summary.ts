import * as v from 'valibot'
import {
  crateCount,
  newCrates,
  type Registry,
  readCards,
  updatedCrates,
} from '../../generator/index.ts'
import type { OpenHandler } from '../access/route.ts'
import { answer } from '../http/answer.ts'
import { categoryShape, crateShape, crateView, keywordShape } from './schema/crate.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const crates = v.array(crateShape)

export const summaryAnswer = v.object({
  num_crates: count,
  num_downloads: count,
  new_crates: crates,
  just_updated: crates,
  most_downloaded: crates,
  most_recently_downloaded: crates,
  popular_keywords: v.array(keywordShape),
  popular_categories: v.array(categoryShape),
})

/** How long each list is. */
const LENGTH = 10

/** `GET /api/v1/summary`: what is new. Downloads are not counted, so their lists are empty. */
export function summary({ database }: Registry): OpenHandler {
  return async c => {
    const view = async (ids: readonly number[]) =>
      (await readCards(database, ids)).map(card => crateView(card))
    return answer<typeof summaryAnswer>(c, {
      num_crates: await crateCount(database),
      num_downloads: 0,
      new_crates: await view(await newCrates(database, LENGTH)),
      just_updated: await view(await updatedCrates(database, LENGTH)),
      most_downloaded: [],
      most_recently_downloaded: [],
      popular_keywords: [],
      popular_categories: [],
    })
  }
}
