/**
 * Requests that a webhook or an admission policy concerns. Rules over operations, groups, versions, resources and scope decide, then the
 * labels of the namespace and of the object.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#matching-requests-rules
 */
import { records, str, strings } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { isNamespace, namespaceOf } from './attributes.ts'

/** Facts for the rules, known before the object. */
interface RuleSubject {
  operation: string
  /** The version of the request. */
  type: ResourceType
  subresource: string
}

export interface RequestMatcher {
  /**
   * The resource's version in the matching rule: the request's own where a rule names it, else (with `matchPolicy: Equivalent`) another
   * served one. `undefined`: no rule matches.
   */
  rules(subject: RuleSubject, versions: readonly ResourceType[], name?: string): ResourceType | undefined
  /** Whether the labels match, apart from the rules. `namespaceLabels` is called at most once. */
  labels(request: AdmissionRequest, namespaceLabels: NamespaceLabels): Promise<boolean>
}
/** @throws StatusError NotFound */
type NamespaceLabels = () => Promise<Readonly<Record<string, string>>>

/** Each may list thousands, and every write in the space asks. */
interface Rule {
  operations: Words
  groups: Words
  versions: Words
  /** With a slash, whether or not there is something behind it. */
  resources: Words
  scope: string
  /** `undefined`: all names. */
  names: Words | undefined
}

interface Words {
  has(word: string): boolean
}

/** Number in a space beyond which the match with a request is found in slices, once it is known whole. */
const MATCHED_AT_ONCE = 500

/** Whether one of the webhooks or policies of a space may concern requests, by the rules alone. */
export function someReach({
  configurations,
  types,
}: {
  configurations: { in(space: string): readonly { readonly match: RequestMatcher }[] }
  types: Pick<TypeRegistry, 'in'>
}): NonNullable<Admission['reaches']> {
  return ({ space, subresource }, type, operation) => {
    const all = configurations.in(space)
    if (all.length === 0 || all.length > MATCHED_AT_ONCE) return all.length > 0
    const versions = types.in(space).versions(type.group, type.resource)
    return all.some(({ match }) => match.rules({ operation, type, subresource }, versions) !== undefined)
  }
}

/** A set is dear to make, and there may be thousands of rules, which mostly list a few. */
const FEW = 8

/**
 * `match` is a webhook, or the `matchConstraints` or `matchResources` of a policy. A bad selector is reported where labels matter.
 */
export function compileMatch(match: Record<string, unknown>): RequestMatcher {
  const included = rulesOf(match, 'rules' in match ? 'rules' : 'resourceRules')
  const excluded = rulesOf(match, 'excludeResourceRules')
  const equivalent = match.matchPolicy !== 'Exact'
  // Compiled at first use, as most rules match little.
  let namespaces: LabelSelector | undefined
  let objects: LabelSelector | undefined
  const versionFor = (
    rules: readonly Rule[],
    subject: RuleSubject,
    versions: readonly ResourceType[],
    name: string | undefined,
  ): ResourceType | undefined => {
    const matches = (type: ResourceType): boolean => rules.some(rule => ruleMatches(rule, { ...subject, type }, name))
    if (matches(subject.type)) return subject.type
    return equivalent ? versions.find(type => type.version !== subject.type.version && matches(type)) : undefined
  }
  return {
    rules(subject, versions, name) {
      const found = versionFor(included, subject, versions, name)
      if (found === undefined || excluded.length === 0) return found
      return versionFor(excluded, subject, versions, name) === undefined ? found : undefined
    },
    async labels(request, namespaceLabels) {
      objects ??= selectorOf(match.objectSelector)
      const wanted = objects
      if (!wanted.isEverything && !labelled(request).some(labels => wanted.matches(labels))) return false
      namespaces ??= selectorOf(match.namespaceSelector)
      if (namespaces.isEverything) return true
      const { requestType, operation, subresource, object } = request
      if (namespaceOf(request) === '') return true
      if (isNamespace(requestType) && subresource === '' && operation !== 'DELETE') {
        return namespaces.matches(object.metadata.labels)
      }
      return namespaces.matches(await namespaceLabels())
    },
  }
}

/** A binding without `matchResources` narrows nothing. */
export const MATCHES_ALL: RequestMatcher = { rules: subject => subject.type, labels: async () => true }

function labelled(request: AdmissionRequest): (Record<string, string> | undefined)[] {
  const show = (object: KubeObject): KubeObject => request.view?.of(object) ?? object
  const shown = [
    ...(request.operation === 'DELETE' ? [] : [show(request.object)]),
    ...(request.old ? [show(request.old)] : []),
  ]
  return shown.map(object => object.metadata.labels)
}

function rulesOf(match: Record<string, unknown>, field: string): Rule[] {
  return records(match, field).map(rule => {
    const names = strings(rule, 'resourceNames')
    return {
      operations: wordsOf(strings(rule, 'operations')),
      groups: wordsOf(strings(rule, 'apiGroups')),
      versions: wordsOf(strings(rule, 'apiVersions')),
      resources: wordsOf(strings(rule, 'resources').map(withSlash)),
      scope: str(rule, 'scope') || '*',
      names: names.length === 0 ? undefined : wordsOf(names),
    }
  })
}

function wordsOf(words: string[]): Words {
  return words.length > FEW ? new Set(words) : { has: word => words.includes(word) }
}

function withSlash(pattern: string): string {
  const [resource = '', subresource = ''] = pattern.split('/')
  return `${resource}/${subresource}`
}

function ruleMatches(rule: Rule, { operation, type, subresource }: RuleSubject, name: string | undefined): boolean {
  return (
    has(rule.operations, operation) &&
    has(rule.groups, type.group) &&
    has(rule.versions, type.version) &&
    // the scope of Namespaces is Cluster, although requests for one carry its name as their namespace
    (rule.scope === '*' || rule.scope === (type.namespaced ? 'Namespaced' : 'Cluster')) &&
    hasResource(rule.resources, type.resource, subresource) &&
    (rule.names === undefined || name === undefined || rule.names.has(name))
  )
}

function has(values: Words, value: string): boolean {
  return values.has(value) || values.has('*')
}

/** `pods`, `pods/status`, `pods/*`, `*` (no sub-resources), `*\/scale`, `*\/*`. */
function hasResource(patterns: Words, resource: string, subresource: string): boolean {
  return (
    patterns.has(`${resource}/${subresource}`) ||
    patterns.has(`*/${subresource}`) ||
    patterns.has(`${resource}/*`) ||
    patterns.has('*/*')
  )
}

function selectorOf(selector: unknown): LabelSelector {
  return labelSelectorFromObject(isRecord(selector) ? (selector as LabelSelectorObject) : {})
}
