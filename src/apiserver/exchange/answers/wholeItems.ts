/** Items of a list with the parts that are not stored with them. */
import type { GroupResource } from '../../../apimachinery/object.ts'
import type { Work } from '../../../program/workTurns.ts'
import type { Stored } from '../../../storage/store.ts'
import type { ListResult } from '../../registry/reader.ts'
import type { Services } from '../exchange.ts'

export async function wholeItems(
  { derived }: Pick<Services, 'derived'>,
  type: GroupResource,
  list: ListResult,
  work?: Work,
): Promise<ListResult> {
  if (!derived?.concerns(type)) return list
  const items: Stored[] = []
  for (const stored of list.items) items.push(await derived.whole(stored, { at: list.revision, work }))
  return { ...list, items }
}
