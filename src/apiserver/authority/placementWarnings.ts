/**
 * An EdgePlacement's name that its space does not serve is most often a slip of the pen: its author gets a warning. It is accepted all the
 * same, for the kind may come later.
 */
import { at, objects, str, strings } from '../../apimachinery/fields.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { isAssociable } from '../../placement/associated/associated.ts'
import { type Pointer, parsePointer } from '../../placement/content/leftFields.ts'
import { reachOf } from '../../placement/select/reach.ts'
import { EDGE_PLACEMENTS, groupOfTest } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'
import { writesOf } from '../registry/admissionFrame.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { DEFAULT_ACCOUNT_STAYS } from './stayingObjects.ts'

/** A response has room for so many. */
const MAX_WARNINGS = 10
const FIELDS = ['downsync', 'upsync', 'associated', 'ignoreDifferences'] as const

export function placementWarnings(types: Pick<TypeRegistry, 'in'>): Admission {
  return {
    stage: 'validate',
    handles: writesOf(EDGE_PLACEMENTS),
    concerns: ({ object, old }) =>
      FIELDS.some(name => fieldOf(object, name) !== undefined && !equalJson(fieldOf(object, name), fieldOf(old, name))),
    admit({ object, context }) {
      const served = types.in(context.space).types
      const warnings = new Set<string>()
      for (const warning of warningsOf(object, served)) {
        warnings.add(warning)
        if (warnings.size === MAX_WARNINGS) break
      }
      for (const warning of warnings) context.warn(warning)
    },
  }
}

function fieldOf(object: KubeObject | undefined, name: (typeof FIELDS)[number]): unknown {
  return isRecord(object?.spec) ? object.spec[name] : undefined
}

function* warningsOf(object: KubeObject, served: readonly ResourceType[]): Generator<string> {
  for (const [i, test] of objects(fieldOf(object, 'downsync')).entries()) {
    yield* ofTest(test, `spec.downsync[${i}]`, served)
  }
  for (const [i, set] of objects(fieldOf(object, 'upsync')).entries()) {
    if (set.apiGroup === '*')
      yield `spec.upsync[${i}].apiGroup: "*" is the name of no group, so nothing is carried up by it; name each group in a set of its own`
  }
  for (const name of strings(at(fieldOf(object, 'associated'), 'kinds'))) yield* ofAssociated(name, served)
  for (const [i, rule] of objects(fieldOf(object, 'ignoreDifferences')).entries()) {
    yield* ofRule(rule, `spec.ignoreDifferences[${i}]`, served)
  }
}

function* ofTest(test: Readonly<Record<string, unknown>>, field: string, served: readonly ResourceType[]) {
  const group = groupOfTest(test)
  if (group !== undefined && !served.some(type => type.group === group)) {
    yield `${field}.apiGroup: this space serves no kind of group ${quoted(group)}, so nothing is selected${groupHint(group, served)}`
    return
  }
  if (group !== undefined && reachOf({ group, resource: '' }) === 'none') {
    yield `${field}.apiGroup: what is of group ${quoted(group)} stays in its space, so nothing is selected`
    return
  }
  const here = group === undefined ? served : served.filter(type => type.group === group)
  for (const name of new Set(strings(test.resources))) {
    const known = here.filter(({ resource }) => resource === name)
    if (known.length > 0 && known.every(type => reachOf(type) === 'none'))
      yield `${field}.resources: ${quoted(name)} stay in their space, so nothing is selected by it`
    if (name === 'serviceaccounts' && strings(test.objectNames).includes('default'))
      yield `${field}.objectNames: ${DEFAULT_ACCOUNT_STAYS}`
    if (name === '*' || known.length > 0) continue
    const where = group === undefined ? '' : ` in group ${quoted(group)}`
    yield `${field}.resources: this space serves no ${quoted(name)}${where}, so nothing is selected by it${resourceHint(name, here, served)}`
  }
}

function* ofAssociated(name: string, served: readonly ResourceType[]) {
  if (name.includes('*')) return
  const [resource = '', ...group] = name.split('.')
  const field = 'spec.associated.kinds'
  if (!isAssociable({ group: group.join('.'), resource })) yield `${field}: clusters never report ${quoted(name)}`
  else if (!served.some(type => groupResourceName(type) === name)) {
    const like = served.find(type => isCalled(type, name))
    const hint = like ? `; did you mean ${quoted(groupResourceName(like))}?` : ''
    yield `${field}: this space serves no ${quoted(name)}, and clusters report a kind where its definition is placed${hint}`
  }
}

function groupHint(group: string, served: readonly ResourceType[]): string {
  const short = group.split('/')[0]!
  if (group === 'v1' || group === 'core') return '; the group of core kinds is ""'
  const like = served.find(type => type.group === short || type.group.split('.')[0] === short)
  return like ? `; did you mean ${quoted(like.group)}?` : ''
}

function resourceHint(name: string, here: readonly ResourceType[], served: readonly ResourceType[]): string {
  const [found] = [...here, ...served].filter(type => isCalled(type, name))
  if (!found) return ''
  const group = here.includes(found) ? '' : ` in apiGroup ${quoted(found.group)}`
  return `; did you mean ${quoted(found.resource)}${group}?`
}

/** By whatever name people use; a resource in the wrong group is called so, too. */
function isCalled({ kind, singular, shortNames, resource }: ResourceType, name: string): boolean {
  const word = name.toLowerCase().split('.')[0]!
  return [kind.toLowerCase(), singular, resource, ...shortNames].includes(word)
}

function* ofRule(rule: Readonly<Record<string, unknown>>, field: string, served: readonly ResourceType[]) {
  const [group, kind] = [str(rule.group), str(rule.kind)]
  if (kind === '*' || group === '*') return
  const type = served.find(one => one.kind === kind && one.group === group)
  if (type) {
    for (const text of strings(rule.jsonPointers)) {
      const pointer = parsePointer(text)
      const lost = pointer && lostAt(type.schema, pointer)
      if (lost !== undefined)
        yield `${field}.jsonPointers: ${quoted(text)} leads to no field of ${kind}: there is no ${quoted(lost)}; nothing is left to clusters by it`
    }
    return
  }
  const like =
    served.find(one => one.kind === kind) ?? served.find(one => isCalled(one, kind) && [one.group, ''].includes(group))
  const hint = like ? `; did you mean kind ${quoted(like.kind)} in group ${quoted(like.group)}?` : ''
  yield `${field}: this space serves no kind ${quoted(kind)} in group ${quoted(group)}, so nothing is left to clusters by it${hint}`
}

/** The step of a pointer that no object of the schema can have. */
function lostAt(schema: Schema | undefined, pointer: Pointer): string | undefined {
  let at = schema
  for (const [i, step] of pointer.entries()) {
    if (
      !at ||
      at['x-kubernetes-preserve-unknown-fields'] ||
      (i === 0 && 'member' in step && step.member === 'metadata')
    )
      return undefined
    if (!('member' in step)) {
      at = at.items
      continue
    }
    const { properties, additionalProperties } = at
    if (properties && Object.hasOwn(properties, step.member)) at = properties[step.member]
    else if (additionalProperties) at = additionalProperties === true ? undefined : additionalProperties
    else return properties ? step.member : undefined
  }
  return undefined
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100)}…`)
}
