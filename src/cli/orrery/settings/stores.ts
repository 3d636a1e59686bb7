/** Settings of commands that read or write a store as a whole: archives, and stores of servers that do not run. */
import { flag, type Setting } from '../../shell/settings.ts'
import { ADMINISTRATOR, CONFIG, OUTPUT, STOPPED_DATA_DIR } from './common.ts'

/** An archive. */
export const ARCHIVE: Setting = flag('--file <file>', 'the archive')

export const KEY_FILE: Setting = {
  flags: '--key-file <file>',
  description: 'file with the passphrase, or random text, that seals the keys of the server in the archive',
}

export const BACKUP: readonly Setting[] = [
  CONFIG,
  { ...ARCHIVE, description: 'where the archive goes: a new file, or a folder' },
  KEY_FILE,
  ...ADMINISTRATOR,
  flag('--data-dir <dir>', 'take it from the data dir of a server that does not run'),
  { flags: '--every <duration>', description: 'take one now and then each time after so long (6h), into a folder' },
  {
    flags: '--keep <count>',
    description: 'of the archives in the folder keep so many, the newest',
    number: true,
    minimum: 1,
    maximum: 10_000,
  },
  OUTPUT,
]

export const RESTORE: readonly Setting[] = [
  CONFIG,
  ARCHIVE,
  flag('--data-dir <dir>', 'an empty folder, or one that is not there yet'),
  KEY_FILE,
  flag('--without-keys', 'leave the keys of the server out: it makes new ones, and all credentials end'),
  OUTPUT,
]

/** One object of a store. */
export const STORED_OBJECT: readonly Setting[] = [
  CONFIG,
  STOPPED_DATA_DIR,
  {
    flags: '--space <space>',
    description: "the object's space, by path from the root or id; may be left out when one holds such an object",
  },
  {
    flags: '--resource <resource>',
    description: 'plural name, with .group where that is not clear: configmaps, deployments.apps',
  },
  { flags: '--namespace <namespace>', description: 'may be left out where that is clear' },
  { flags: '--name <name>', description: "the object's name" },
  {
    flags: '--key <key>',
    description: 'all of it at once: <space>/<group>/<resource>/<namespace>/<name>, parts may be empty',
  },
  OUTPUT,
]
