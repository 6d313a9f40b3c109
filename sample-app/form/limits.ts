/** The most fields, and the most files, that one form may have. */
export const PART_LIMIT = 1000
/** The most bytes of one value that is not a file: 1 MiB. */
export const VALUE_LIMIT = 1024 * 1024
/** The most bytes of a field's name in an urlencoded form, and of the headers of one part: 16 KiB. */
export const HEADER_LIMIT = 16 * 1024
