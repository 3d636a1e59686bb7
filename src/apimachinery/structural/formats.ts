/**
 * The string formats that a CustomResourceDefinition may demand. Formats that are not here are ignored, as upstream does.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
 */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { dns1123Label, dns1123Subdomain } from '../nameRules.ts'

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
/** As Go's `time.ParseDuration` takes it, but for a bare `0`. */
export const GO_DURATION =
  /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$/
/** Numbers and units in a text of any kind; a number is tried once, not from each of its digits on. */
const WORD_DURATION = /(?<!\d)\d+\s*([A-Za-zµ]+)/g
/** The longest word for a unit may go on (`seconds`, `nanoseconds`), the shorter ones stand as they are. */
const UNIT = /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i
/** Host names have letters of all scripts; dots only before a last part of letters, which then is there. */
const HOST_ALONE = /^[a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u
const HOST_PART = /^[a-zA-Z0-9\p{S}\p{L}]([-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u
const HOST_END = /^[a-zA-Z\p{L}]{2,63}$/u
const HOST_LABEL = /^[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const EMAIL_LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/

/** Whether a string has the format, by name of the format. */
export const stringFormats: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': isDateTime,
  datetime: isDateTime,
  date: value => /^\d{4}-\d{2}-\d{2}$/.test(value) && isDateTime(`${value}T00:00:00Z`),
  duration: isDuration,
  byte: value => value !== '' && isBase64(value),
  uuid: value => UUID.test(value),
  uuid3: value => UUID.test(value) && uuidVersion(value) === '3',
  uuid4: value => UUID.test(value) && uuidVersion(value) === '4' && hasRfcVariant(value),
  uuid5: value => UUID.test(value) && uuidVersion(value) === '5' && hasRfcVariant(value),
  ipv4: value => isIPv4(withoutZeros(value)),
  ipv6: value => isIPv6(value) && !value.includes('%'),
  cidr: isCidr,
  mac: isMac,
  uri: isRequestUri,
  email: isEmail,
  hostname: isHostname,
  bsonobjectid: value => /^[0-9a-fA-F]{24}$/.test(value),
  isbn: value => isIsbn10(value) || isIsbn13(value),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: value => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(value),
  hexcolor: value => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(value),
  rgbcolor: isRgbColor,
  'k8s-short-name': value => dns1123Label(value).length === 0,
  'k8s-long-name': value => dns1123Subdomain(value).length === 0,
}

/** RFC 3339 with any number of fraction digits, on the real calendar. */
export function isDateTime(value: string): boolean {
  const match = DATE_TIME.exec(value)
  if (match === null) return false
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false
  return hour <= 23 && minute <= 59 && second <= 59
}

/** Standard alphabet with padding. */
export function isBase64(value: string): boolean {
  return value.length % 4 === 0 && BASE64.test(value)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** As Go reads it, or any number with a unit inside of it. */
function isDuration(value: string): boolean {
  if (value === '0' || GO_DURATION.test(value)) return true
  return [...value.matchAll(WORD_DURATION)].some(([, unit]) => UNIT.test(unit!))
}

function isHostname(value: string): boolean {
  if (value.length > 255) return false
  const parts = value.split('.')
  if (parts.length === 1) return HOST_ALONE.test(value)
  return HOST_END.test(parts.at(-1)!) && parts.slice(0, -1).every(part => HOST_PART.test(part))
}

/** 6, 8 or 20 bytes: pairs of digits between colons or dashes, or fours between dots. */
function isMac(value: string): boolean {
  const separator = value[2] === ':' || value[2] === '-' ? value[2] : '.'
  const digits = separator === '.' ? 4 : 2
  const groups = value.split(separator)
  if (![6, 8, 20].includes((groups.length * digits) / 2)) return false
  return groups.every(group => group.length === digits && /^[0-9A-Fa-f]+$/.test(group))
}

/** Zeros in front do not make a number octal here. */
function withoutZeros(address: string): string {
  return address.includes(':') ? address : address.replace(/(^|\.)0+(?=\d)/g, '$1')
}

function isCidr(value: string): boolean {
  const [address = '', bits = '', ...rest] = value.split('/')
  const version = address.includes('%') ? 0 : isIP(withoutZeros(address))
  return version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

/** Targets of a request line: an absolute path or a URI with a scheme. */
function isRequestUri(value: string): boolean {
  if (/[\s\p{Cc}]/u.test(value)) return false
  return value.startsWith('/') || /^[A-Za-z][A-Za-z0-9+.-]*:./.test(value)
}

function isEmail(value: string): boolean {
  const address = /^[^<>]*<([^<>]+)>$/.exec(value)?.[1] ?? value
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  if (at < 1 || !EMAIL_LOCAL.test(local) || local.startsWith('.') || local.endsWith('.')) return false
  return address
    .slice(at + 1)
    .split('.')
    .every(label => HOST_LABEL.test(label))
}

function uuidVersion(value: string): string {
  return value.replaceAll('-', '').charAt(12)
}

function hasRfcVariant(value: string): boolean {
  return '89abAB'.includes(value.replaceAll('-', '').charAt(16))
}

function isIsbn10(value: string): boolean {
  const digits = value.replaceAll(/[\s-]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

function isIsbn13(value: string): boolean {
  const digits = value.replaceAll(/[\s-]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 13; i++) sum += Number(digits[i]) * (i % 2 === 0 ? 1 : 3)
  return sum % 10 === 0
}

/** Lengths and beginnings of the issuers, then Luhn's sum. */
const CARD =
  /^(4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})$/

function isCreditCard(value: string): boolean {
  const digits = value.replaceAll(/[^0-9]/g, '')
  if (!CARD.test(digits)) return false
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 1 : 2)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

function isRgbColor(value: string): boolean {
  const match = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(value)
  return match?.slice(1).every(part => Number(part) <= 255) === true
}
