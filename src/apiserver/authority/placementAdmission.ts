/**
 * EdgePlacements: nobody sends to clusters what they may not read. Its author needs `get` and `list` on all that the change adds to its
 * tests; anyone who may write it may narrow it.
 *
 * A wide test selects, kind by kind, what its author may read. The server records that, and no record comes from a client. A record
 * holds until its test changes, or until the annotation does: then it grows by what that writer may read.
 */
import { type GroupResource, groupResourceName, isSameResource, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { reachOf } from '../../placement/select/reach.ts'
import {
  isWide,
  type KindLimit,
  keyOfTest,
  kindLimitsOf,
  limitOf,
  recordOf,
  skippedText,
} from '../../placement/select/selectedKinds.ts'
import { EDGE_PLACEMENTS, SELECTED_KINDS_ANNOTATION } from '../../placement/words/placement.ts'
import { forbiddenMessage } from '../auth/forbidden.ts'
import { questionOf } from '../auth/questions.ts'
import type { Attributes, Authorizer, UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { refused } from '../registry/admissionFrame.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { type AddedTest, addedTests, shownTests } from './placementAdditions.ts'

/** To the authorizer, for one write. A user who may read a kind everywhere costs one question for it. */
export const MAX_QUESTIONS = 2000
/** Characters; all annotations of an object have 256 KiB. */
const MAX_RECORD = 64 * 1024
const ALL = '*'
const EVERYTHING: Readable = { group: ALL, resource: ALL, namespace: '', name: '' }

export function placementAdmission(deps: PlacementAdmissionDeps): Admission {
  return {
    stage: 'prepare',
    handles: (type, operation) => operation !== 'DELETE' && isSameResource(type, EDGE_PLACEMENTS),
    concerns: ({ object, old }) => !equalJson(object.spec, old?.spec) || recordIn(object) !== recordIn(old),
    async admit(request) {
      const { object, old, subresource } = request
      const text = subresource === '' ? await new Judgement(deps, request).record() : recordIn(old)
      const { metadata } = object
      if (text !== undefined) metadata.annotations = { ...metadata.annotations, [SELECTED_KINDS_ANNOTATION]: text }
      else if (metadata.annotations) delete metadata.annotations[SELECTED_KINDS_ANNOTATION]
    },
  }
}

interface PlacementAdmissionDeps {
  authorizer: Authorizer
  types: Pick<TypeRegistry, 'in'>
}

interface Readable {
  readonly group: string
  readonly resource: string
  /** `''`: everywhere. */
  readonly namespace: string
  /** `''`: whatever its name. */
  readonly name: string
}

function recordIn(placement: KubeObject | undefined): string | undefined {
  return placement?.metadata.annotations?.[SELECTED_KINDS_ANNOTATION]
}

/** The judgement of one write. */
class Judgement {
  readonly #request: AdmissionRequest
  readonly #rights: ReadRights
  /** Kinds are looked up one by one, and have questions of their own. */
  readonly #kindRights: ReadRights
  readonly #types: Pick<TypeRegistry, 'in'>

  constructor({ authorizer, types }: PlacementAdmissionDeps, request: AdmissionRequest) {
    this.#request = request
    this.#types = types
    this.#rights = new ReadRights(authorizer, request.context)
    this.#kindRights = new ReadRights(authorizer, request.context)
  }

  /** The record to keep. @throws StatusError for objects that the writer may not place */
  async record(): Promise<string | undefined> {
    const { object, old } = this.#request
    const former = old === undefined ? new Map<string, KindLimit>() : kindLimitsOf(old)
    const added = addedTests(object.spec, old?.spec, former)
    const limits = new Map<string, KindLimit>()
    const kept: AddedTest[] = []
    if (former.size > 0) {
      for (const test of addedTests(object.spec, undefined)) {
        const limit = limitOf(former, test.written)
        if (limit === undefined) continue
        limits.set(keyOfTest(test.written), limit)
        if (recordIn(object) !== recordIn(old)) kept.push(test)
      }
    }
    const tests = [...added, ...kept]
    const readsAll = tests.length > 0 && (await this.#rights.lacking(EVERYTHING)) === undefined
    for (const test of tests) {
      const lacking = readsAll ? undefined : await this.#lackingOf(test)
      const key = keyOfTest(test.written)
      if (lacking === undefined) {
        if (isJudged(test)) limits.delete(key)
      } else limits.set(key, await this.#limit(test, lacking, limits.get(key)))
    }
    for (const test of shownTests({ spec: object.spec, limits }, { spec: old?.spec, limits: former })) {
      const lacking = readsAll ? undefined : await this.#lackingOf(this.#inAllItsPlaces(test))
      if (lacking === undefined) continue
      const why = `${test.field}.statusCollectors shows what ${JSON.stringify(this.#request.context.user.name)} may not read: ${forbiddenMessage(lacking)}`
      throw this.#refused(`${why}; name collectors in a test or set of kinds that you may get and list`)
    }
    const text = recordOf(limits)
    if (text === undefined || text.length <= MAX_RECORD) return text
    throw this.#refused('spec.downsync: wide tests select too many kinds for a record; name API groups and resources')
  }

  /** The kinds that a wide test selects. @throws StatusError for a test that names what its writer may not place */
  async #limit(test: AddedTest, lacking: Attributes, former: KindLimit | undefined): Promise<KindLimit> {
    const found = await this.#kindsOf(test)
    const kinds = new Set(former?.kinds)
    for (const kind of [...found.readable, ...found.wasSelected]) kinds.add(groupResourceName(kind))
    const isFound = (name: string) => found.readable.some(({ resource }) => resource === name)
    const hasAll = former !== undefined || (kinds.size > 0 && [...(test.resources ?? [])].every(isFound))
    if (!isJudged(test) || !hasAll) throw this.#unreadable(test, lacking, found.readable)
    const skipped = found.skipped.map(groupResourceName).filter(kind => !kinds.has(kind))
    const limit = { kinds: [...kinds].sort(), skipped }
    const { context, object } = this.#request
    if (skipped.length > 0) context.warn(skippedText(test.field, limit, object.metadata.name ?? ''))
    return limit
  }

  /** The namespaces of an upsync set leave out no cluster-scoped objects. */
  #inAllItsPlaces(test: AddedTest): AddedTest {
    const { apiGroup, resources, namespaces } = test
    if (namespaces === undefined || !test.field.startsWith('spec.upsync')) return test
    const { types } = this.#types.in(this.#request.context.space)
    const isNamespaced = (resource: string): boolean =>
      types.some(type => type.group === apiGroup && type.resource === resource && type.namespaced)
    return resources && [...resources].every(isNamespaced) ? test : { ...test, namespaces: undefined }
  }

  /** The first right that is missing to read all that the test selects. @throws StatusError for too many questions */
  async #lackingOf({ field, apiGroup, resources, namespaces, names }: AddedTest): Promise<Attributes | undefined> {
    const rights = this.#rights
    const named = async (place: Readable): Promise<Attributes | undefined> => {
      const lacking = await rights.lacking(place)
      if (lacking === undefined || names === undefined) return lacking
      for (const name of names) {
        const lacksOne = await rights.lacking({ ...place, name })
        if (lacksOne !== undefined) return lacksOne
      }
      return undefined
    }
    const group = apiGroup ?? ALL
    for (const resource of resources ?? [ALL]) {
      const everywhere = { group, resource, namespace: '', name: '' }
      let lacking: Attributes | undefined
      if (namespaces === undefined) lacking = await named(everywhere)
      else if ((await rights.lacking(everywhere)) !== undefined) {
        for (const namespace of namespaces) lacking ??= await named({ ...everywhere, namespace })
      }
      if (lacking !== undefined) return lacking
      if (rights.isExhausted) throw this.#refused(exhausted(field))
    }
    return undefined
  }

  /** Kinds that a test leaves open, by whether its writer may read them wherever it selects them. @throws StatusError as above */
  async #kindsOf(test: AddedTest): Promise<Kinds> {
    const { field, apiGroup, resources, namespaces, before } = test
    const readable: GroupResource[] = []
    const wasSelected: GroupResource[] = []
    const skipped: Record<'namespaced' | 'other', GroupResource[]> = { namespaced: [], other: [] }
    const rights = this.#kindRights
    const mayRead = async (kind: GroupResource, isNamespaced: boolean): Promise<boolean> => {
      for (const namespace of isNamespaced && namespaces ? namespaces : [''])
        if ((await rights.lacking({ ...kind, namespace, name: '' })) !== undefined) return false
      return true
    }
    const wholeGroups = new Set<string>()
    const isOpen = apiGroup === undefined || resources === undefined
    const meant = isOpen ? this.#types.in(this.#request.context.space).types.filter(type => isMeant(test, type)) : []
    for (const group of resources === undefined ? new Set(meant.map(type => type.group)) : []) {
      if (!(await mayRead({ group, resource: ALL }, true))) continue
      wholeGroups.add(group)
      readable.push({ group, resource: ALL })
    }
    for (const { group, resource, namespaced } of servedOnce(meant)) {
      const kind = { group, resource }
      if (before.some(one => (one.group ?? group) === group && (one.resource ?? resource) === resource))
        wasSelected.push(kind)
      if (wholeGroups.has(group)) continue
      if (await mayRead(kind, namespaced)) readable.push(kind)
      else skipped[namespaced ? 'namespaced' : 'other'].push(kind)
    }
    if (rights.isExhausted) throw this.#refused(exhausted(field))
    return { readable, wasSelected, skipped: [...skipped.namespaced, ...skipped.other] }
  }

  #unreadable(test: AddedTest, lacking: Attributes, readable: readonly GroupResource[]): Error {
    const inItsPlace =
      readable.length === 0
        ? 'name only kinds, namespaces and objects that you may get and list'
        : `in its place name what you may: ${testsOf(readable)}`
    const isWidened = isWide(test.written) && !test.isNew
    return this.#refused(
      [
        `${test.field} places what ${JSON.stringify(this.#request.context.user.name)} may not read: ${forbiddenMessage(lacking)}`,
        isWidened ? 'leave this test as it was, and write what you add as a test of its own' : inItsPlace,
        'or ask an administrator of this space for a role with get and list of the rest',
      ].join('; '),
    )
  }

  #refused(why: string): Error {
    return refused(this.#request, why)
  }
}

interface Kinds {
  /** `*` is all of a group. */
  readonly readable: readonly GroupResource[]
  /** By earlier tests, wherever this one selects. */
  readonly wasSelected: readonly GroupResource[]
  /** Those of namespaces first. */
  readonly skipped: readonly GroupResource[]
}

function isJudged({ isNew, written }: AddedTest): boolean {
  return isNew && isWide(written)
}

function exhausted(field: string): string {
  return `${field}: more than ${MAX_QUESTIONS} rights would have to be looked up; name fewer kinds, namespaces and objects, or split the placement`
}

function isMeant(test: AddedTest, { group, resource, namespaced, form, verbs }: ResourceType): boolean {
  return (
    (test.apiGroup ?? group) === group &&
    (test.resources?.has(resource) ?? true) &&
    (namespaced || test.namespaces === undefined) &&
    form !== 'own' &&
    verbs.includes('list') &&
    reachOf({ group, resource }) !== 'none'
  )
}

/** Each kind once, whatever its versions. */
function servedOnce(types: readonly ResourceType[]): ResourceType[] {
  return [...new Map(types.map(type => [groupResourceName(type), type])).values()]
}

/** Kinds in a refusal. */
const NAMED_KINDS = 60

/** Kinds as tests, by API group. */
function testsOf(kinds: readonly GroupResource[]): string {
  const byGroup = new Map<string, string[]>()
  for (const { group, resource } of kinds.slice(0, NAMED_KINDS))
    byGroup.set(group, [...(byGroup.get(group) ?? []), resource === ALL ? JSON.stringify(ALL) : resource])
  const tests = [...byGroup].map(
    ([group, resources]) => `{apiGroup: ${JSON.stringify(group)}, resources: [${resources.sort().join(', ')}]}`,
  )
  const more = kinds.length - NAMED_KINDS
  return `${tests.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

class ReadRights {
  readonly #authorizer: Authorizer
  readonly #who: { user: UserInfo; space: string }
  /** Answered questions, with the missing right. */
  readonly #known = new Map<string, Attributes | undefined>()
  #left = MAX_QUESTIONS

  constructor(authorizer: Authorizer, who: { user: UserInfo; space: string }) {
    this.#authorizer = authorizer
    this.#who = who
  }

  get isExhausted(): boolean {
    return this.#left < 0
  }

  /** The first missing right for reading this; beyond the bound on questions, none is missing. */
  async lacking(place: Readable): Promise<Attributes | undefined> {
    const { group, resource, namespace, name } = place
    const key = [group, resource, namespace, name].join('|')
    if (this.#known.has(key)) return this.#known.get(key)
    for (const verb of ['get', 'list']) {
      if (--this.#left < 0) return undefined
      const question = questionOf(this.#who, verb, place)
      if ((await this.#authorizer.authorize(question)).allowed) continue
      this.#known.set(key, question)
      return question
    }
    this.#known.set(key, undefined)
    return undefined
  }
}
