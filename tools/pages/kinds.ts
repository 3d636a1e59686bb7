/** docs/reference/kinds: a page of each kind of openapi/groups, from its schema. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { cell, page, table } from './markdown.ts'

interface Schema {
  type?: string
  format?: string
  description?: string
  properties?: Readonly<Record<string, Schema>>
  items?: Schema
  additionalProperties?: Schema | boolean
  required?: readonly string[]
  enum?: readonly unknown[]
  default?: unknown
  maxItems?: number
  maxLength?: number
  maxProperties?: number
  minimum?: number
  maximum?: number
}

interface Names {
  kind: string
  plural: string
  shortNames?: readonly string[]
}

interface Column {
  name: string
  priority?: number
  description?: string
}

/** A document of openapi/groups. */
export interface Kind {
  spec: {
    group: string
    scope: 'Cluster' | 'Namespaced'
    names: Names
    /** Names of the twin without a namespace. */
    clusterNames?: Names
    versions: readonly {
      name: string
      served: boolean
      subresources?: Readonly<Record<string, object>>
      additionalPrinterColumns?: readonly Column[]
      selectableFields?: readonly { jsonPath: string }[]
      schema: { openAPIV3Schema: Schema }
    }[]
  }
  /** An object of the kind, as YAML: one that a server takes. */
  example?: string
}

export function kindsOf(folder: string): Kind[] {
  const files = readdirSync(folder).filter(file => file.endsWith('.yaml'))
  return files.flatMap(file =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8'), { merge: true }).map(each => each.toJS() as Kind),
  )
}

/** By file name, such as `edgeplacement.md`. */
export function kindPages(kinds: readonly Kind[]): Map<string, string> {
  return new Map(kinds.map(kind => [`${kind.spec.names.kind.toLowerCase()}.md`, kindPage(kind)]))
}

function kindPage({ spec, example }: Kind): string {
  const { names, clusterNames, group, scope } = spec
  const [version] = spec.versions.filter(({ served }) => served)
  if (version === undefined) throw new Error(`${names.kind}: no version is served`)
  const { openAPIV3Schema: schema, ...rest } = { ...version, ...version.schema }
  const columns = (version.additionalPrinterColumns ?? []).filter(({ description }) => description !== undefined)
  const shown = ({ kind, plural, shortNames = [] }: Names): string =>
    `${kind}: ${[plural, ...shortNames].map(name => `\`${name}\``).join(', ')}`
  const facts = [
    ['API', `\`${group}/${version.name}\``],
    ['names', [names, ...(clusterNames ? [clusterNames] : [])].map(shown).join('; ')],
    [
      'scope',
      clusterNames ? 'a namespace; without one the second kind' : scope === 'Cluster' ? 'the space' : 'a namespace',
    ],
    ['subresources', Object.keys(rest.subresources ?? {}).join(', ')],
    ['field selectors', (rest.selectableFields ?? []).map(({ jsonPath }) => `\`${jsonPath.slice(1)}\``).join(', ')],
  ].filter(([, value]) => value !== '')
  return page(
    `# ${names.kind}${clusterNames ? `, ${clusterNames.kind}` : ''}`,
    'A reference, which `npm run pages` writes from [openapi/groups](../../../openapi/groups). `kubectl explain` shows the same.',
    paragraphs(schema.description ?? ''),
    table(['', ''], facts),
    ...(example === undefined ? [] : [`## Example\n\n\`\`\`yaml\n${example.trimEnd()}\n\`\`\``]),
    '## Fields',
    table(
      ['field', 'type', 'meaning'],
      fieldsOf(schema).map(each => [`\`${each.path}\``, each.type, cell(each.meaning)]),
    ),
    ...conditionsOf(schema),
    ...(columns.length === 0 ? [] : ['## Columns', table(['column', 'meaning'], columns.map(columnRow))]),
  )
}

const columnRow = ({ name, priority = 0, description = '' }: Column): string[] => [
  priority > 0 ? `${name} (\`-o wide\`)` : name,
  cell(description),
]

interface Field {
  path: string
  type: string
  meaning: string
}

/** Fields in the order of the schema; those of label selectors and of conditions are Kubernetes' own. */
function fieldsOf(schema: Schema, above = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${above}${name}`
    const item = field.items ?? (typeof field.additionalProperties === 'object' ? field.additionalProperties : field)
    const isKnown = item.properties?.matchLabels !== undefined || name === 'conditions'
    const mark = field.type === 'array' ? '[]' : item === field ? '' : '.*'
    const description =
      name === 'conditions' && field.description !== undefined ? 'See [conditions](#conditions).' : field.description
    const own = item === field || isKnown ? undefined : item.description
    const meaning = [description, own === description ? undefined : own, ...boundsOf(field, item, schema, name)]
    return [
      {
        path: `${path}${field.type === 'array' ? '[]' : ''}`,
        type: typeOf(field),
        meaning: meaning.filter(Boolean).join(' '),
      },
      ...(isKnown ? [] : fieldsOf(item, `${path}${mark}.`)),
    ]
  })
}

function typeOf(field: Schema): string {
  if (field.items?.properties?.matchLabels !== undefined) return 'label selectors'
  if (field.properties?.matchLabels !== undefined) return 'label selector'
  if (field.type === 'array') return `list of ${field.items?.type ?? 'any'}`
  if (typeof field.additionalProperties === 'object') return `map of ${field.additionalProperties.type ?? 'any'}`
  return field.format === 'date-time' ? 'time' : (field.type ?? 'any')
}

function boundsOf(field: Schema, item: Schema, above: Schema, name: string): string[] {
  const values = field.enum ?? (item === field ? undefined : item.enum)
  const description = field.description ?? ''
  return [
    above.required?.includes(name) ? 'Required.' : '',
    field.default === undefined ? '' : `Default: \`${JSON.stringify(field.default)}\`.`,
    values === undefined || values.every(value => description.includes(String(value)))
      ? ''
      : `One of ${values.map(value => `\`${value}\``).join(', ')}.`,
    field.maxItems === undefined ? '' : `At most ${field.maxItems} entries.`,
    field.maxProperties === undefined ? '' : `At most ${field.maxProperties} entries.`,
    field.maxLength === undefined && item.maxLength === undefined
      ? ''
      : `At most ${field.maxLength ?? item.maxLength} characters.`,
    field.maximum === undefined ? '' : `At most ${field.maximum}.`,
  ]
}

/**
 * A description of conditions has a line `Type: text` for each, and below it a line `- Status, Reason: text` for each reason.
 */
function conditionsOf(schema: Schema): string[] {
  const lines = (schema.properties?.status?.properties?.conditions?.description ?? '').split('\n').filter(Boolean)
  if (lines.length === 0) return []
  const parts: string[] = ['## Conditions']
  let rows: string[][] = []
  const end = (): void => {
    if (rows.length > 0) parts.push(table(['status, reason', 'meaning'], rows))
    rows = []
  }
  for (const line of lines) {
    const [, reason, meaning = ''] = /^- ([^:]+): (.*)$/.exec(line) ?? []
    if (reason !== undefined) {
      rows.push([reason.replaceAll(/\w+/g, '`$&`'), cell(meaning)])
      continue
    }
    end()
    const [, type, text = line] = /^(\w+): (.*)$/.exec(line) ?? []
    if (type !== undefined) parts.push(`### ${type}`)
    parts.push(cell(`${text[0]!.toUpperCase()}${text.slice(1)}`))
  }
  end()
  return parts
}

const paragraphs = (text: string): string => text.trim().split('\n').filter(Boolean).map(cell).join('\n\n')
