/**
 * Kubernetes' format library for CEL: `format.dns1123Label().validate(self.name)` gives the reasons why not, if there are some.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-format-library
 */
import { type Environment, Optional } from '@marcbachmann/cel-js'
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../nameRules.ts'
import type { Comparable } from './celEquality.ts'
import { registerAll, registerNamespace, registerOpaque } from './celRegister.ts'
import { isBase64, isDateTime, stringFormats } from './formats.ts'

type Check = (value: string) => string[]

class CelFormat implements Comparable {
  readonly name: string
  readonly check: Check
  constructor(name: string, check: Check) {
    this.name = name
    this.check = check
  }
  equals({ name }: CelFormat): boolean {
    return this.name === name
  }
}

/** A generated name's beginning may end with a dash. */
const prefix =
  (check: Check): Check =>
  value =>
    check(value.replace(/-$/, 'a'))
const demand =
  (holds: (value: string) => boolean, why: string): Check =>
  value =>
    holds(value) ? [] : [why]

const FORMATS: Readonly<Record<string, Check>> = {
  dns1123Label,
  dns1123Subdomain,
  dns1035Label,
  qualifiedName,
  dns1123LabelPrefix: prefix(dns1123Label),
  dns1123SubdomainPrefix: prefix(dns1123Subdomain),
  dns1035LabelPrefix: prefix(dns1035Label),
  labelValue,
  uri: demand(value => stringFormats.uri!(value), 'invalid URI for request'),
  uuid: demand(value => stringFormats.uuid!(value), 'does not match the UUID format'),
  byte: demand(isBase64, 'invalid base64'),
  date: demand(value => stringFormats.date!(value), 'invalid date'),
  datetime: demand(isDateTime, 'invalid datetime'),
}

export function addFormats(environment: Environment): void {
  const formats = new Map(Object.entries(FORMATS).map(([name, check]) => [name, new CelFormat(name, check)]))
  registerOpaque(environment, 'kubernetes.NamedFormat', CelFormat)
  registerAll(environment, {
    'kubernetes.NamedFormat.validate(string): optional<list<string>>': (format: CelFormat, value: string) => {
      const errors = format.check(value)
      return errors.length === 0 ? Optional.none() : Optional.of(errors)
    },
  })
  registerNamespace(environment, 'format', {
    'named(string): optional<kubernetes.NamedFormat>': (name: string) => {
      const format = formats.get(name)
      return format === undefined ? Optional.none() : Optional.of(format)
    },
    ...Object.fromEntries(
      [...formats].map(([name, format]) => [`${name}(): kubernetes.NamedFormat`, () => format] as const),
    ),
  })
}
