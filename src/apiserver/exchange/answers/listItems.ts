/** Objects as items of a list. */
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import type { Stored } from '../../../storage/store.ts'
import { FORMS } from '../../registry/forms.ts'
import { viewBytes } from '../../registry/views.ts'

/**
 * Stored objects as `type` serves them in a list. The list's kind implies that of its items: upstream leaves it out of them, for its own
 * kinds. Appends to `pieces`, with a comma before every item but the first.
 */
export function itemPieces(type: ResourceType): (stored: Stored, isFirst: boolean, pieces: Buffer[]) => void {
  const start = FORMS[type.form].inScheme
    ? Buffer.from(`{"apiVersion":"${apiVersionOf(type)}","kind":"${type.kind}",`)
    : EMPTY
  // Called for every object in a list: no copies, no parsing.
  return (stored, isFirst, pieces) => {
    const bytes = viewBytes(stored, type)
    if (start === EMPTY) {
      if (!isFirst) pieces.push(COMMA)
      pieces.push(bytes)
    } else if (bytes.compare(start, 0, start.length, 0, start.length) === 0) {
      pieces.push(isFirst ? OPEN : COMMA_OPEN, bytes.subarray(start.length))
    } else {
      if (!isFirst) pieces.push(COMMA)
      pieces.push(Buffer.from(JSON.stringify(asItem(JSON.parse(bytes.toString()) as KubeObject, type))))
    }
  }
}

const EMPTY = Buffer.alloc(0)
const COMMA = Buffer.from(',')
const OPEN = Buffer.from('{')
const COMMA_OPEN = Buffer.from(',{')

/** The form of {@link itemPieces} for an object that is parsed already; the object itself stays as it is. */
export function asItem(object: KubeObject, type: ResourceType): object {
  if (!FORMS[type.form].inScheme) return object
  const { apiVersion: _, kind: __, ...item } = object
  return item
}
