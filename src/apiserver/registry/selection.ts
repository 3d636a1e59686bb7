/** Which objects of a resource a list or watch wants: label and field selectors over stored objects. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { compileJsonPath } from '../../apimachinery/jsonPath.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import {
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
} from '../../apimachinery/selectors.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Stored } from '../../storage/store.ts'
import { FORMS } from './forms.ts'

export interface Selection {
  /** True when every object matches; then nothing needs to be parsed. */
  readonly everything: boolean
  /** The one name that can match, when a field selector fixes it: the store then looks it up instead of scanning. */
  readonly name?: string
  readonly namespace?: string
  /** Values that fields must equal. */
  readonly fixed?: ReadonlyMap<string, string>
  matches(object: Readonly<KubeObject>): boolean
  /** The same where nothing but labels counts. */
  matchesLabels?: ((labels: KubeObject['metadata']['labels']) => boolean) | undefined
  /** The user's view of all matches. */
  sight?: Sight
}

export interface Sight {
  /** To be awaited before `sees` is called for these. @throws Abandoned */
  learn(found: readonly Stored[], work: Work): Promise<void>
  sees(stored: Stored): boolean
}

export interface Selectors {
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

/** Requirements, and values in them, of both selectors of a request. Each is evaluated on each object. */
export const MAX_PARTS = 1000

/** How many there are, without reading them. */
export function selectorParts({ labelSelector, fieldSelector }: Selectors): number {
  return [labelSelector, fieldSelector].reduce((sum, text) => sum + (text ? text.split(',').length : 0), 0)
}

export const EVERYTHING: Selection = { everything: true, matches: () => true }

/** @throws StatusError BadRequest for a selector that does not parse, is too long, or names a field that the kind does not index */
export function selectionFor(type: ResourceType, strategy: Strategy | undefined, selectors: Selectors): Selection {
  const parts = selectorParts(selectors)
  if (parts > MAX_PARTS) throw tooLong(parts)
  const labels = parsed(selectors.labelSelector, parseLabelSelector)
  const fields = parsed(selectors.fieldSelector, parseFieldSelector)
  if ((labels === undefined || labels.isEverything) && fields === undefined) return EVERYTHING
  const valuesOf = fields && fieldValues(type, strategy, fields)
  const nameOnly = fields?.requirements.every(r => r.operator !== '!=' && r.field === 'metadata.name')
  return {
    everything: false,
    ...(fixed(fields, 'metadata.name') !== undefined && { name: fixed(fields, 'metadata.name')! }),
    ...(fixed(fields, 'metadata.namespace') && { namespace: fixed(fields, 'metadata.namespace')! }),
    ...(fields !== undefined && { fixed: fixedIn(fields) }),
    ...(fields === undefined && { matchesLabels: own => labels!.matches(own) }),
    matches: object => {
      if (labels !== undefined && !labels.matches(object.metadata.labels)) return false
      if (fields === undefined || valuesOf === undefined) return true
      return nameOnly
        ? fields.matches({ 'metadata.name': object.metadata.name ?? '' })
        : fields.matches(valuesOf(object))
    },
  }
}

function tooLong(parts: number): StatusError {
  return statusError.badRequest(
    `labelSelector and fieldSelector have ${parts} requirements and values; they may have ${MAX_PARTS} together: select by less, or ask several times`,
  )
}

function parsed<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined || text === '' ? undefined : parse(text)
}

function fieldValues(
  type: ResourceType,
  strategy: Strategy | undefined,
  selector: FieldSelector,
): (object: Readonly<KubeObject>) => Record<string, string> {
  const paths = type.selectableFields.map(path => ({ field: path.replace(/^\./, ''), read: compileJsonPath(path) }))
  const valuesOf = (object: Readonly<KubeObject>): Record<string, string> => {
    const values: Record<string, string> = {
      'metadata.name': object.metadata?.name ?? '',
      'metadata.namespace': object.metadata?.namespace ?? '',
      ...strategy?.selectableFields?.(object),
    }
    for (const { field, read } of paths) values[field] = String(read(object)[0] ?? '')
    return values
  }
  const known = valuesOf({ apiVersion: '', kind: type.kind, metadata: {} })
  for (const { field } of selector.requirements) {
    if (!Object.hasOwn(known, field)) throw unknownField(type, strategy, field)
  }
  return valuesOf
}

/** Upstream words it differently for kinds that have selectable fields of their own. */
function unknownField(type: ResourceType, strategy: Strategy | undefined, field: string): StatusError {
  return new StatusError(
    'BadRequest',
    FORMS[type.form].unknownSelector(field, strategy?.selectableFields !== undefined),
  )
}

function fixed(selector: FieldSelector | undefined, field: string): string | undefined {
  return selector?.requirements.find(r => r.field === field && r.operator !== '!=')?.value
}

function fixedIn({ requirements }: FieldSelector): ReadonlyMap<string, string> {
  return new Map(requirements.flatMap(({ field, operator, value }) => (operator === '!=' ? [] : [[field, value]])))
}

export type { LabelSelector }
