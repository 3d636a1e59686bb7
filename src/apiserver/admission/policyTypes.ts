/**
 * Type checking of a ValidatingAdmissionPolicy: its expressions against the schemas of the kinds that its rules name. Its findings are
 * warnings; a policy works as it is written. Only what expressions name is declared, so it costs little.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking
 */
import { setImmediate as letOthers } from 'node:timers/promises'
import type { Environment } from '@marcbachmann/cel-js'
import { has, record, records, str, strings } from '../../apimachinery/fields.ts'
import { apiVersionOf, isRecord, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { celName } from '../../apimachinery/structural/celNames.ts'
import { CelCompileError, compileCel } from '../../apimachinery/structural/celProgram.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import type { TypeSet } from '../types/typeRegistry.ts'
import { admissionEnvironment, wordedAsUpstream } from './admissionCel.ts'
import { withoutMessageTypes } from './celMessages.ts'

interface ExpressionWarning {
  fieldRef: string
  warning: string
}

/** A policy that names more kinds is checked against so many of them. */
const MAX_KINDS = 10
/** Further variables are of any type: each that has one takes an environment of its own, for each kind. */
const MAX_TYPED_VARIABLES = 64
/** Between so many the other requests of the server have their turn. */
const EXPRESSIONS_AT_ONCE = 20

/** Warnings in the order of the validations; kinds that the space does not know are left out. */
export async function checkPolicyTypes(policy: Readonly<KubeObject>, types: TypeSet): Promise<ExpressionWarning[]> {
  const spec = record(policy, 'spec')
  const expressions = records(spec, 'validations').flatMap((validation, i) =>
    ['expression', 'messageExpression']
      .map(field => ({ fieldRef: `spec.validations[${i}].${field}`, source: str(validation, field) }))
      .filter(({ source }) => source !== ''),
  )
  const variables = records(spec, 'variables').map(each => ({
    name: str(each, 'name'),
    source: str(each, 'expression'),
  }))
  const named = new Set([...expressions, ...variables].flatMap(({ source }) => source.match(/[A-Za-z_]\w*/g) ?? []))
  const params = paramsOf(spec, types)
  const checkers: { type: ResourceType; environment: Environment }[] = []
  for (const type of kindsOf(spec, types)) {
    await letOthers()
    const environment = environmentFor(type, { params, named, hasParams: has(spec, 'paramKind') })
    checkers.push({ type, environment: withVariables(environment, variables) })
  }
  const warnings: ExpressionWarning[] = []
  for (const [i, { fieldRef, source }] of expressions.entries()) {
    if (i % EXPRESSIONS_AT_ONCE === 0) await letOthers()
    const issues = checkers.flatMap(({ type, environment }) => {
      const issue = issueOf(environment, source)
      const gvk = `${type.group}/${type.version}, Kind=${type.kind}`
      return issue === undefined ? [] : [`${gvk}: ${issue}\n`]
    })
    if (issues.length > 0) warnings.push({ fieldRef, warning: issues.join('\n') })
  }
  return warnings
}

/** The kinds that the rules name without wildcards, by group, version and kind. */
function kindsOf(spec: Record<string, unknown>, types: TypeSet): ResourceType[] {
  const found = new Map<string, ResourceType>()
  for (const rule of records(spec, 'matchConstraints', 'resourceRules')) {
    const [groups, versions, resources] = ['apiGroups', 'apiVersions', 'resources'].map(
      field => new Set(strings(rule, field)),
    )
    if ([...groups!, ...versions!].some(each => each.includes('*'))) continue
    const named =
      resources!.size === 1 && groups!.size === 1 && versions!.size === 1
        ? [types.find([...groups!][0]!, [...versions!][0]!, [...resources!][0]!)]
        : // the product of the names can be far more than all kinds
          types.types.filter(
            type => groups!.has(type.group) && versions!.has(type.version) && resources!.has(type.resource),
          )
    for (const type of named) if (type?.schema !== undefined) found.set(`${apiVersionOf(type)} ${type.kind}`, type)
  }
  const order = (type: ResourceType): string => `${type.group}\0${type.version}\0${type.kind}`
  return [...found.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1)).slice(0, MAX_KINDS)
}

function paramsOf(spec: Record<string, unknown>, types: TypeSet): ResourceType | undefined {
  const wanted = parseApiVersion(str(spec, 'paramKind', 'apiVersion'))
  const kind = str(spec, 'paramKind', 'kind')
  return types.types.find(type => type.group === wanted?.group && type.version === wanted.version && type.kind === kind)
}

function environmentFor(
  type: ResourceType,
  { params, named, hasParams }: { params: ResourceType | undefined; named: ReadonlySet<string>; hasParams: boolean },
): Environment {
  const environment = admissionEnvironment({ request: 'dyn', namespaceObject: 'dyn' })
  const taken = new Set<string>()
  const declare = (each: ResourceType): string =>
    new Declarations(environment, named, taken).of(whole(each.schema!), `${each.kind}Object`)
  const object = declare(type)
  environment.registerVariable('object', object).registerVariable('oldObject', object)
  if (params?.schema !== undefined && params !== type) environment.registerVariable('params', declare(params))
  else if (hasParams) environment.registerVariable('params', params === type ? object : 'dyn')
  return environment
}

/** Adds `variables`, each as what the ones before it make it. */
function withVariables(base: Environment, variables: readonly { name: string; source: string }[]): Environment {
  const fields: Record<string, string> = {}
  const now = (): Environment => {
    const environment = base.clone()
    environment.registerType('VariablesOfPolicy', { fields: { ...fields } })
    return environment.registerVariable('variables', 'VariablesOfPolicy')
  }
  let environment = now()
  for (const { name, source } of variables.slice(0, MAX_TYPED_VARIABLES)) {
    fields[name] = typeOf(environment, source) ?? 'dyn'
    environment = now()
  }
  if (variables.length <= MAX_TYPED_VARIABLES) return environment
  for (const { name } of variables.slice(MAX_TYPED_VARIABLES)) fields[name] = 'dyn'
  return now()
}

function typeOf(environment: Environment, source: string): string | undefined {
  try {
    return compileCel(withoutMessageTypes(source), undefined, environment).type
  } catch (error) {
    if (error instanceof CelCompileError) return undefined
    throw error
  }
}

function issueOf(environment: Environment, source: string): string | undefined {
  try {
    compileCel(withoutMessageTypes(source), undefined, environment)
    return undefined
  } catch (error) {
    if (error instanceof CelCompileError) return wordedAsUpstream(error.message)
    throw error
  }
}

/** The schema of an object with the members that all objects have. */
function whole(schema: Schema): Schema {
  const text: Schema = { type: 'string' }
  const { metadata, ...properties } = schema.properties ?? {}
  const known = isRecord(metadata?.properties) ? metadata : objectMetaSchema
  return { ...schema, properties: { apiVersion: text, kind: text, ...properties, metadata: known! } }
}

/** Schemas as types of an environment. */
class Declarations {
  readonly #environment: Environment
  readonly #named: ReadonlySet<string>
  readonly #known = new Map<Schema, string>()
  readonly #taken: Set<string>

  /** `named`: the members that matter; all others exist and are of any type. `taken`: names of types that are in use. */
  constructor(environment: Environment, named: ReadonlySet<string>, taken: Set<string>) {
    this.#environment = environment
    this.#named = named
    this.#taken = taken
  }

  /** The name of the type; `dyn` where the schema says nothing that CEL could check. */
  of(schema: Schema, name: string): string {
    const { type, format, items, properties, additionalProperties } = schema
    if (schema.nullable || schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'])
      return 'dyn'
    if (type === 'boolean') return 'bool'
    if (type === 'integer') return 'int'
    if (type === 'number') return 'double'
    if (type === 'string') return format === undefined ? 'string' : 'dyn'
    if (type === 'array') return items === undefined ? 'list' : `list<${this.of(items, `${name}.items`)}>`
    if (type !== 'object' || schema['x-kubernetes-embedded-resource']) return 'dyn'
    if (properties !== undefined && additionalProperties === undefined) return this.#object(schema, properties, name)
    return isRecord(additionalProperties) && properties === undefined
      ? `map<string, ${this.of(additionalProperties, `${name}.values`)}>`
      : 'dyn'
  }

  #object(schema: Schema, properties: Readonly<Record<string, Schema>>, name: string): string {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    // inside itself it is anything: schemas may be cyclic
    this.#known.set(schema, 'dyn')
    const fields: Record<string, string> = {}
    for (const [property, member] of Object.entries(properties)) {
      const field = celName(property)
      if (field === undefined) continue
      fields[field] = this.#named.has(field) ? this.of(member, `${name}.${field}`) : 'dyn'
    }
    const own = this.#taken.has(name) ? `${name}.another${this.#taken.size}` : name
    this.#taken.add(own)
    this.#environment.registerType(own, { fields })
    for (const other of ['null', own]) {
      this.#environment.registerOperator(`${own} == ${other}`, (a: unknown, b: unknown) => a === b)
    }
    this.#known.set(schema, own)
    return own
  }
}
