/**
 * Rejected values that are structs or maps, as kube-apiserver shows them: its checks see internal structs, so a value has all
 * fields under their names in Go.
 */
import type { ProtobufTable } from '../../../openapi/protobufTable.ts'
import type { FieldError } from '../fieldErrors.ts'
import type { Fields } from '../fields.ts'
import { isRecord } from '../object.ts'
import { memberSchema, type Schema, STRUCT_FACTS } from '../schema.ts'
import { GoStructs, sortedMap } from './goStructs.ts'

/**
 * Gives the same error; only one with a value of that sort is another one. `schema` is that of the whole object. The table of
 * messages is loaded when it is needed: refusals that show structs are rare.
 */
export function valuesAsGo(schema: Schema, loadTable: () => ProtobufTable): (error: FieldError) => FieldError {
  let structs: GoStructs | undefined
  return error => {
    if (!isStructured(error)) return error
    structs ??= new GoStructs(loadTable())
    for (const found of schemasAt(schema, error.field)) {
      const value = render(structs, error.value, found)
      if (value !== undefined) return { ...error, value }
    }
    return error
  }
}

function isStructured({ value, omitValue }: FieldError): boolean {
  return omitValue !== true && (isRecord(value) || (Array.isArray(value) && value.some(isRecord)))
}

/** Of the field and of what it is in, from the inside out: some checks name a field and show what it is in. */
function schemasAt(schema: Schema, field: string): Schema[] {
  const found = [schema]
  const [first = ''] = field.split('.')
  const alias = memberSchema(schema, first) === undefined ? ALIASES[first] : undefined
  if (alias !== undefined) return schemasAt(schema, alias)
  for (const [, name, index] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    const here = found[0]!
    const next = name === undefined ? (here.items ?? memberSchema(here, index ?? '')) : memberSchema(here, name)
    if (next === undefined) break
    found.unshift(next)
  }
  return found
}

/** Events are checked in their elder form, whatever form was asked. */
const ALIASES: Readonly<Record<string, string>> = { involvedObject: 'regarding', source: 'deprecatedSource' }

/** `undefined` when the value is none of that schema. */
function render(structs: GoStructs, value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    const shown = items === undefined ? [] : value.map(item => render(structs, item, items))
    return shown.length === 0 || shown.includes(undefined) ? undefined : shown
  }
  if (!isRecord(value)) return undefined
  if (schema.properties === undefined) return schema.additionalProperties ? sortedMap(value) : undefined
  const struct = structOf(schema)
  if (struct === undefined || !structs.has(struct.version, struct.name)) return undefined
  if (!Object.keys(value).every(name => Object.hasOwn(schema.properties!, name))) return undefined
  return structs.struct(struct.version, struct.name, value as Fields)
}

/** `io.k8s.api.apps.v1.DeploymentStrategy` is a struct of `apps/v1`. */
function structOf(schema: Schema): { version: string; name: string } | undefined {
  const steps = schema[STRUCT_FACTS]?.definition?.split('.') ?? []
  const [group, version, name] = steps.slice(-3)
  if (group === undefined || version === undefined || name === undefined) return undefined
  return { version: VERSIONS[group] ?? `${group}/${version}`, name }
}

/** API versions whose groups have longer names than the packages of their structs. */
const VERSIONS: Readonly<Record<string, string>> = {
  admissionregistration: 'admissionregistration.k8s.io/v1',
  certificates: 'certificates.k8s.io/v1',
  coordination: 'coordination.k8s.io/v1',
  core: 'v1',
  discovery: 'discovery.k8s.io/v1',
  events: 'events.k8s.io/v1',
  flowcontrol: 'flowcontrol.apiserver.k8s.io/v1',
  meta: 'meta.k8s.io/v1',
  networking: 'networking.k8s.io/v1',
  node: 'node.k8s.io/v1',
  rbac: 'rbac.authorization.k8s.io/v1',
  resource: 'resource.k8s.io/v1',
  scheduling: 'scheduling.k8s.io/v1',
  storage: 'storage.k8s.io/v1',
}
