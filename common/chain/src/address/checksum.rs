//! Checksum of Stellar and TON addresses.

/// Computes CRC-16/XMODEM: polynomial 0x1021, initial value 0, bits not reflected (ITU-T V.41).
pub(super) fn crc16_xmodem(bytes: &[u8]) -> u16 {
    crc::Crc::<u16>::new(&crc::CRC_16_XMODEM).checksum(bytes)
}
