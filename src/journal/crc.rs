//! The checksum of a journal line: the CRC of 32 bits in zip and PNG (polynomial 0xEDB88320, reflected).
//!
//! What may go here: this one function. It is here and not in a crate because it is twelve lines.

/// One step for each value of a byte.
const TABLE: [u32; 256] = table();

/// Returns the checksum of some bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        let index = (crc ^ u32::from(*byte)) & 0xFF;
        TABLE.get(index as usize).copied().unwrap_or_default() ^ (crc >> 8)
    })
}

#[expect(clippy::indexing_slicing, reason = "the index runs to the length, at compile time")]
const fn table() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut value = 0_u32;
    while value < 256 {
        let mut crc = value;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[value as usize] = crc;
        value += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_everybody_knows() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
