/** The admission policies of a space with their bindings, compiled when a request first asks for them. */
import { has, record, records, str, strings } from '../../apimachinery/fields.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { type GroupResource, isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import type { AdmissionCel, Expression, MatchCondition } from './admissionCel.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { compileMatch, MATCHES_ALL, type RequestMatcher } from './matchRules.ts'
import { ADMISSION_GROUP, conditionsOf } from './webhookConfigurations.ts'

export interface Validation {
  expression: Expression
  message: string
  messageExpression: Expression | undefined
  /** `''`: Invalid. */
  reason: string
}
interface AuditAnnotation {
  key: string
  /** Gives a text, or null for no annotation. */
  expression: Expression
}
export interface Mutation {
  kind: 'JSONPatch' | 'ApplyConfiguration'
  expression: Expression
}

export interface PolicyVariable {
  name: string
  expression: Expression
}

export interface Policy {
  name: string
  match: RequestMatcher
  conditions: readonly MatchCondition[]
  variables: readonly PolicyVariable[]
  failsOpen: boolean
  reinvocable: boolean
  paramKind: { group: string; version: string; kind: string; text: string } | undefined
  validations: readonly Validation[]
  auditAnnotations: readonly AuditAnnotation[]
  mutations: readonly Mutation[]
  bindings: readonly Binding[]
}
export interface Binding {
  name: string
  match: RequestMatcher
  actions: readonly string[]
  paramRef: ParamRef | undefined
}
export interface ParamRef {
  name: string
  namespace: string
  selector: LabelSelector | undefined
  /** Whether a missing parameter refuses the request instead of leaving the binding out. */
  deniesMissing: boolean
}

/** Content of a policy, apart from its bindings. */
type Compiled = Omit<Policy, 'bindings'>

/** Policies by name, without those that no binding puts to work. */
export class PolicyConfigurations {
  readonly #policies: GroupResource
  readonly #bindings: GroupResource
  readonly #log: ConfigurationLog
  readonly #cel: AdmissionCel
  readonly #inSpace = new Map<string, readonly Policy[]>()
  /** By the objects, which are others after a change: of thousands, one that changes is compiled anew. */
  readonly #compiled = new WeakMap<KubeObject, Compiled>()
  readonly #compiledBindings = new WeakMap<KubeObject, Binding>()

  /** `kind`: `validating` or `mutating`. */
  constructor(log: ConfigurationLog, cel: AdmissionCel, kind: 'validating' | 'mutating') {
    this.#policies = { group: ADMISSION_GROUP, resource: `${kind}admissionpolicies` }
    this.#bindings = { group: ADMISSION_GROUP, resource: `${kind}admissionpolicybindings` }
    this.#log = log
    this.#cel = cel
    log.onChange([this.#policies, this.#bindings], space => this.#inSpace.delete(space))
  }

  in(space: string): readonly Policy[] {
    if (!this.#log.has(space, this.#bindings) || !this.#log.has(space, this.#policies)) return []
    return getOrInsert(this.#inSpace, space, () => {
      const bindings = Map.groupBy(this.#log.list(space, this.#bindings), one => str(one, 'spec', 'policyName'))
      return [...bindings.keys()].sort().flatMap(name => {
        const policy = this.#log.get(space, this.#policies, '', name)
        if (policy === undefined) return []
        return { ...this.#policy(policy), bindings: bindings.get(name)!.map(binding => this.#binding(binding)) }
      })
    })
  }

  #policy(object: KubeObject): Compiled {
    return getOrInsert(this.#compiled, object, () => compilePolicy(object, this.#cel))
  }

  #binding(object: KubeObject): Binding {
    return getOrInsert(this.#compiledBindings, object, () => compileBinding(object))
  }
}

function compilePolicy(object: KubeObject, cel: AdmissionCel): Compiled {
  const { name = '' } = object.metadata
  const spec = record(object, 'spec')
  const kind = record(spec, 'paramKind')
  const apiVersion = parseApiVersion(str(kind, 'apiVersion'))
  return {
    name,
    match: compileMatch(record(spec, 'matchConstraints')),
    conditions: conditionsOf(spec, cel),
    variables: records(spec, 'variables').map(variable => ({
      name: str(variable, 'name'),
      expression: cel.later(str(variable, 'expression')),
    })),
    failsOpen: spec.failurePolicy === 'Ignore',
    reinvocable: spec.reinvocationPolicy === 'IfNeeded',
    paramKind: has(spec, 'paramKind')
      ? {
          group: apiVersion?.group ?? '',
          version: apiVersion?.version ?? '',
          kind: str(kind, 'kind'),
          text: `&ParamKind{APIVersion:${str(kind, 'apiVersion')},Kind:${str(kind, 'kind')},}`,
        }
      : undefined,
    validations: records(spec, 'validations').map(validation => ({
      expression: cel.later(str(validation, 'expression')),
      message: str(validation, 'message').trim(),
      messageExpression: str(validation, 'messageExpression')
        ? cel.later(str(validation, 'messageExpression'))
        : undefined,
      reason: str(validation, 'reason'),
    })),
    auditAnnotations: records(spec, 'auditAnnotations').map(annotation => ({
      key: str(annotation, 'key'),
      expression: cel.later(str(annotation, 'valueExpression')),
    })),
    mutations: records(spec, 'mutations').map(mutation =>
      mutation.patchType === 'ApplyConfiguration'
        ? { kind: 'ApplyConfiguration', expression: cel.later(str(mutation, 'applyConfiguration', 'expression')) }
        : { kind: 'JSONPatch', expression: cel.later(str(mutation, 'jsonPatch', 'expression')) },
    ),
  }
}

function compileBinding(object: KubeObject): Binding {
  const spec = record(object, 'spec')
  const match = record(spec, 'matchResources')
  const ref = record(spec, 'paramRef')
  return {
    name: object.metadata.name ?? '',
    match: has(spec, 'matchResources') ? compileBindingMatch(match) : MATCHES_ALL,
    actions: strings(spec, 'validationActions'),
    paramRef: has(spec, 'paramRef')
      ? {
          name: str(ref, 'name'),
          namespace: str(ref, 'namespace'),
          selector: isRecord(ref.selector) ? labelSelectorFromObject(ref.selector as LabelSelectorObject) : undefined,
          deniesMissing: ref.parameterNotFoundAction === 'Deny',
        }
      : undefined,
  }
}

/** Unlike a policy's, the rules of a binding may be absent: then every resource of its policy is meant. */
function compileBindingMatch(match: Record<string, unknown>): RequestMatcher {
  if (records(match, 'resourceRules').length > 0) return compileMatch(match)
  const all = ['*']
  const everything = { operations: all, apiGroups: all, apiVersions: all, resources: ['*/*'] }
  return compileMatch({ ...match, resourceRules: [everything] })
}
