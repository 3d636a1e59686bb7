/** The options of `kubectl kubestellar grant` as the `spec` of a PlacementGrant, and back for `grants`. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { isRecord } from '../../../apimachinery/object.ts'
import { type LabelRequirement, type LabelSelectorObject, parseLabelSelector } from '../../../apimachinery/selectors.ts'
import { CommandError } from '../../shell/commandError.ts'
import { flag } from '../../shell/settings.ts'

export interface GrantOptions {
  locations?: string
  namespaces?: string
  allow?: string
  deny?: string
  clusterScoped?: boolean
  grantingKinds?: boolean
  adoptExisting?: boolean
  upsync?: string
  upsyncSecrets?: string
  associated?: string
}

/** Where, and in which namespaces: what most grants say. */
export const PLACES = [
  flag('--locations <selector>', 'only where Location and SyncTarget have these labels, such as env=prod'),
  flag('--namespaces <names>', 'only namespaces of these names; "*" stands for any text, such as team-a-*'),
]

interface Kinds {
  apiGroup: string
  resources: string[]
}

/** Without `spaces`. @throws CommandError naming the option that is wrong */
export function grantSpec(options: GrantOptions): Record<string, unknown> {
  const { locations, namespaces, allow, deny, clusterScoped, grantingKinds, adoptExisting, associated } = options
  const upsync = [...kindsIn(options.upsync), ...secretsIn(options.upsyncSecrets)]
  return {
    ...(locations !== undefined && { locations: selectorOf(narrowing('--locations', locations)) }),
    ...(namespaces !== undefined && { namespaces: listIn(namespaces) }),
    ...(allow !== undefined && { allow: kindsIn(allow) }),
    ...(deny !== undefined && { deny: kindsIn(narrowing('--deny', deny)) }),
    ...(clusterScoped !== undefined && { clusterScoped }),
    ...(grantingKinds !== undefined && { grantingKinds }),
    ...(adoptExisting !== undefined && { adoptExisting }),
    ...((options.upsync ?? options.upsyncSecrets) !== undefined && { upsync }),
    ...(associated !== undefined && { associated: listIn(associated) }),
  }
}

/** Nothing would narrow nothing, which is hardly what who writes the option wants: a variable was not set. */
function narrowing(flag: string, text: string): string {
  if (text.trim() !== '') return text
  throw new CommandError(`${flag} is empty, and would narrow nothing; leave it out if that is meant`)
}

/** `deployments.apps,configmaps`; `*.apps` is all of a group, `*` everything. */
function kindsIn(text: string | undefined): Kinds[] {
  const groups = new Map<string, string[]>()
  for (const kind of listIn(text)) {
    const dot = kind.indexOf('.')
    const [resource, group] = dot < 0 ? [kind, kind === '*' ? '*' : ''] : [kind.slice(0, dot), kind.slice(dot + 1)]
    groups.set(group, [...(groups.get(group) ?? []), resource])
  }
  return [...groups].map(([apiGroup, resources]) => ({ apiGroup, resources }))
}

/** `namespace/name,…` */
function secretsIn(text: string | undefined): object[] {
  return listIn(text).map(secret => {
    const [namespace, name, ...more] = secret.split('/')
    if (!namespace || !name || more.length > 0) {
      throw new CommandError(`--upsync-secrets: ${JSON.stringify(secret)} is not NAMESPACE/NAME`)
    }
    return { apiGroup: '', resources: ['secrets'], namespaces: [namespace], names: [name] }
  })
}

function listIn(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')
}

const EXPRESSIONS: Partial<Record<LabelRequirement['operator'], string>> = {
  '!=': 'NotIn',
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

/** The object form of a selector as kubectl's `-l` takes it. */
function selectorOf(text: string): LabelSelectorObject {
  const matchLabels: Record<string, string> = {}
  const matchExpressions: NonNullable<LabelSelectorObject['matchExpressions']> = []
  for (const { key, operator, values } of requirementsIn(text)) {
    const expression = EXPRESSIONS[operator]
    if ((operator === '=' || operator === '==') && !(key in matchLabels)) matchLabels[key] = values[0] ?? ''
    else if (operator === '=' || operator === '==') matchExpressions.push({ key, operator: 'In', values: [...values] })
    else if (expression === undefined) throw new CommandError(`--locations: "${operator}" cannot be granted by`)
    else matchExpressions.push({ key, operator: expression, ...(values.length > 0 && { values: [...values] }) })
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  }
}

function requirementsIn(text: string): readonly LabelRequirement[] {
  try {
    return parseLabelSelector(text).requirements
  } catch (error) {
    if (!isStatusError(error)) throw error
    throw new CommandError(`--locations: ${error.message}`, 1, { cause: error })
  }
}

/** `deployments.apps,configmaps` of `allow`, `deny` or `upsync`; a name behind each that is limited to some. */
export function kindsText(rules: unknown): string {
  const texts = (Array.isArray(rules) ? rules : []).filter(isRecord).flatMap(({ apiGroup, resources, names }) => {
    const group = typeof apiGroup === 'string' ? apiGroup : ''
    const limited = Array.isArray(names) && !names.includes('*') ? `(${names.join(',')})` : ''
    return (Array.isArray(resources) ? resources : []).map(resource => `${kindText(String(resource), group)}${limited}`)
  })
  return texts.join(',')
}

function kindText(resource: string, group: string): string {
  if (group === '' || (group === '*' && resource === '*')) return resource
  return `${resource}.${group}`
}
